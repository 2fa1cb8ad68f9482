"""Three ways in, for who knows what they have but not yet which question to ask."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Door:
    """One way in.

    Attributes
    ----------
    title, about : str
        Whose it is, and what is behind it; a known term in `about` is explained.
    picture : str
        Name of a resource: ``.png``, or ``.json`` with curves as points from 0 to 1.
    button : str
        What its button says.
    does : str
        ``open``, ``figures``, or ``study:ID`` and, after a slash, the parameter to begin with.
    other, other_does : str
        A smaller way beside it, and what that does (``sample`` too).
    hint : str
        What else can be done.
    """

    title: str
    about: str
    picture: str
    button: str
    does: str
    other: str = ""
    other_does: str = ""
    hint: str = ""


DOORS = (
    Door(
        "I have check-ins",
        "See a private map of your file beside the true one, and find the ε at which it is good "
        "enough.",
        "start-map.png",
        "Open check-ins…",
        "open",
        "Try the synthetic sample",
        "sample",
        "or drop a file anywhere",
    ),
    Door(
        "I train a model",
        "Clients send noisy, shuffled messages. See how private the training is, and solve for "
        "the noise you need.",
        "start-training.json",
        "Start with your numbers",
        "study:shuffle-rdp/n",
        "I only count things",
        "study:histograms",
    ),
    Door(
        "I read a paper",
        "Their figures and tables, computed anew, with our numbers beside theirs and the reason "
        "where they differ.",
        "start-paper.json",
        "Browse the figures",
        "figures",
        hint="or type a number: Ctrl+K “figure 2”",
    ),
)
