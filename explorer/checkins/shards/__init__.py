"""Data sets larger than memory: cut by the leading bits of the users' hashes, asked shard by shard.

Any shard is a uniform sample of users with their whole histories, and no user crosses one.
"""
