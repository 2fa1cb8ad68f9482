"""The five papers, as references name them."""

HEATMAPS = "Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam and Valliappan 2022, DP heatmaps"
HISTOGRAMS = "Balcer & Cheu 2020"
SHUFFLE_RDP = "Girgis, Data & Diggavi 2021 (subsampled shuffle model)"
USER_METRIC = (
    "Imola, Roy Chowdhury & Chaudhuri 2024 (metric DP at the user level; arXiv 2405.02665 v1)"
)
COORDINATES = "Aliakbarpour, Chaudhuri, Courtade, Fallah & Jordan 2024 (arXiv 2410.18404 v1)"
