"""What can be set and plotted in the study of CLDP-SGD."""

from explorer.studies.base.builders import choice, count, delta, epsilon, orders, real
from explorer.studies.base.study import Kind, Parameter, Quantity, Scale
from explorer.studies.cldp_sgd.runs import CONSTANT, FIGURE_5A, FIGURE_5B, THEOREM

EPS, RISK, ACCURACY = "eps", "risk", "accuracy"
R_INF, R_2, R_2_HALF, R_1, R_P = "r_inf", "r_2", "r_2_half", "r_1", "r_p"
DIGITS, MNIST = "digits", "mnist"
SOFTMAX, PERCEPTRON, CONVOLUTIONAL = "softmax", "perceptron", "convolutional"
MAX_EPOCHS = 200

_TRAINED = (ACCURACY,)

PARAMETERS = (
    epsilon(
        "local privacy",
        "Privacy of every single gradient before it is shuffled. Smaller is more private.",
        2.0,
        0.05,
        10.0,
        key="eps0",
        symbol="ε₀",
    ),
    count(
        "epochs",
        "E",
        "epochs",
        "How often on average a client takes part: T = En/k rounds, rounded up. Fewer is more "
        "private. Models are trained until here, or to the end of an x axis that is narrower "
        "than the whole range.",
        20,
        1,
        MAX_EPOCHS,
        unit="epochs",
        more_private="low",
        latex="E",
    ),
    count(
        "n",
        "n",
        "clients",
        "How many clients there are, one picture each. More is more private. If there are more "
        "clients than pictures, several hold the same one.",
        10_000,
        10,
        1_000_000,
        unit="clients",
        more_private="high",
    ),
    count(
        "k",
        "k",
        "clients sampled",
        "How many clients are sampled in a round and shuffled together. Fewer hide better in "
        "the sample, more hide better in the shuffle.",
        500,
        1,
        1_000_000,
        unit="clients",
    ),
    delta(1e-5),
    choice(
        "randomiser",
        "",
        "randomiser",
        "How a client's gradient is clipped and randomised. R∞ reports one random coordinate's "
        "sign in a few bits, R₁ that of one entry of its Hadamard transform; R₂ a direction "
        "near the gradient's. All are ε₀-LDP and unbiased.",
        R_2,
        (
            (R_2, "R₂, best cap (PrivUnit, 2018)"),
            (R_2_HALF, "R₂, half sphere (Duchi et al. 2013)"),
            (R_INF, "R∞, one coordinate (Girgis et al. 2021)"),
            (R_1, "R₁, one Hadamard coordinate (Girgis et al. 2021)"),
            (R_P, "R₂, gradients clipped in another norm (Lemma 8)"),
        ),
        quantities=(RISK, ACCURACY),
        group="mechanism",
    ),
    real(
        "norm",
        "p",
        "norm of the clipping",
        "Gradients are clipped in the ℓp norm. R₂ then runs on the smallest ℓ2 ball that holds "
        "all of them, which for p above 2 grows with the number of parameters.",
        4.0,
        1.01,
        64.0,
        quantities=(RISK, ACCURACY),
        relevant_when=(("randomiser", (R_P,)),),
        group="mechanism",
    ),
    real(
        "clip",
        "C",
        "clipping threshold",
        "Gradients longer than this are shortened to it: in the ℓ2 norm for R₂, in the largest "
        "entry for R∞, in the sum of entries for R₁. It is also Theorem 3's Lipschitz constant "
        "L. It costs no privacy, but noise grows with it.",
        1.0,
        1e-4,
        100.0,
        quantities=(RISK, ACCURACY),
        group="mechanism",
    ),
    real(
        "diameter",
        "D",
        "diameter of the parameter set",
        "Parameters are kept in a ball of this diameter around 0.",
        20.0,
        0.1,
        1000.0,
        quantities=(RISK, ACCURACY),
        group="mechanism",
    ),
    count(
        "d",
        "d",
        "parameters of the model",
        "How many numbers are learnt. Softmax regression has 650 on the digits, 7,850 on MNIST; "
        "the paper states 13,170 for its network, which has 13,706.",
        650,
        2,
        1_000_000,
        quantities=(RISK,),
        group="mechanism",
    ),
    choice(
        "steps",
        "",
        "learning rate",
        "η = D/(G√t) as Theorem 3 wants it, a constant, or the schedules printed for Figure 5.",
        THEOREM,
        (
            (THEOREM, "Theorem 3: D/(G√t)"),
            (CONSTANT, "constant η"),
            (FIGURE_5A, "Figure 5 (a): 0.3, then 0.18"),
            (FIGURE_5B, "Figure 5 (b): 12, 4, 3.5"),
        ),
        quantities=_TRAINED,
        group="mechanism",
    ),
    real(
        "rate",
        "η",
        "constant learning rate",
        "How far a step goes along the averaged gradient.",
        1.0,
        1e-4,
        1e4,
        latex=r"\eta",
        quantities=_TRAINED,
        relevant_when=(("steps", (CONSTANT,)),),
        group="mechanism",
    ),
    orders(
        "Theorem 1 takes the best order from 2 to here. Any choice is sound; a small one can "
        "be loose.",
        group="mechanism",
    ),
    choice(
        "model",
        "",
        "model",
        "Softmax regression is convex, as Theorem 3 needs; the networks are not. The "
        "convolutional one is that of the paper's Table 1 with 13,706 parameters; the digits "
        "are enlarged threefold for it. It takes a hundred times as long as the others.",
        SOFTMAX,
        (
            (SOFTMAX, "softmax regression"),
            (PERCEPTRON, "network, 32 hidden units"),
            (CONVOLUTIONAL, "convolutional network of Table 1"),
        ),
        quantities=_TRAINED,
        group="simulation",
    ),
    count(
        "runs",
        "runs",
        "seeded runs",
        "How many trainings, each with its own seed, the mean and spread are taken over.",
        3,
        1,
        20,
        Scale.LINEAR,
        quantities=_TRAINED,
        group="simulation",
    ),
    choice(
        "data",
        "",
        "pictures",
        "What is trained on: the 1,797 handwritten digits of 8 × 8 pixels that ship with the "
        "program, or MNIST's files in a folder of yours.",
        DIGITS,
        ((DIGITS, "digits of 8 × 8 pixels"), (MNIST, "MNIST in a folder")),
        quantities=_TRAINED,
        group="data",
    ),
    Parameter(
        "folder",
        "",
        "MNIST's folder",
        "Holds train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
        "t10k-labels-idx1-ubyte, plain or .gz.",
        Kind.FILE,
        "",
        quantities=_TRAINED,
        relevant_when=(("data", (MNIST,)),),
        group="data",
    ),
    count(
        "data_seed",
        "",
        "split",
        "Seed of the split into training and test pictures (digits) and of who holds which.",
        0,
        0,
        9999,
        Scale.LINEAR,
        quantities=_TRAINED,
        group="data",
    ),
    epsilon(
        "privacy spent",
        "ε at δ after each epoch, as an axis: how accurate a model is at its privacy.",
        1.0,
        0.01,
        100.0,
        key="spent",
        quantities=_TRAINED,
        axis_only=True,
    ),
)

QUANTITIES = (
    Quantity(
        EPS,
        "ε",
        "privacy after the training",
        ("epochs", "eps0", "k", "n", "delta"),
        scale=Scale.LOG,
        latex=r"\varepsilon",
    ),
    Quantity(
        RISK,
        "F − F*",
        "excess risk",
        ("epochs", "eps0", "k", "n", "d", "clip", "diameter"),
        scale=Scale.LOG,
        latex=r"F-F^*",
    ),
    Quantity(ACCURACY, "", "test accuracy", ("spent", "epochs")),
)
