"""The metric-space panel: one declaration, one space and one picture for every study with one."""
