"""What is given: check-in files in, validated tables and per-user grid counts out."""
