"""The three options of the start page, for users who have no particular study in mind."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StartOption:
    """One option of the start page.

    Attributes
    ----------
    title, about : str
        Heading and description; glossary terms in `about` are explained by tool tips.
    picture : str
        Name of a resource: ``.png``, or ``.json`` with curves as points from 0 to 1.
    button : str
        Text of the main button.
    does : str
        Action of the main button: ``open``, ``figures``, or ``study:ID``, optionally followed by a
        slash and the parameter that gets the focus.
    other, other_does : str
        Text and action (also ``sample``) of the secondary button; empty for none.
    hint : str
        Further ways, shown below the buttons.
    """

    title: str
    about: str
    picture: str
    button: str
    does: str
    other: str = ""
    other_does: str = ""
    hint: str = ""


START_OPTIONS = (
    StartOption(
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
    StartOption(
        "I train a model",
        "Clients send noisy, shuffled messages. See how private the training is, and solve for "
        "the noise you need.",
        "start-training.json",
        "Start with your numbers",
        "study:shuffle-rdp/n",
        "I only count things",
        "study:histograms",
    ),
    StartOption(
        "I read a paper",
        "Their figures and tables, computed anew, with our numbers beside theirs and the reason "
        "where they differ.",
        "start-paper.json",
        "Browse the figures",
        "figures",
        hint="or type a number: Ctrl+K “figure 2”",
    ),
)
