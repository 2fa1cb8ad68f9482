"""Side panels: presets, parameters, data, guarantee; start page and headline."""
