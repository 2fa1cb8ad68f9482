"""What every study is made of: parameters, requests, results, help pages, sweeps, tables."""
