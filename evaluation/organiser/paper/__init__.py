"""The manuscript of a challenge, its archive to publish, and its data sheets, from phases and results."""
