"""What stands beside a view: questions, parameters, data, guarantee."""
