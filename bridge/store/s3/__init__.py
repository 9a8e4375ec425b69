"""Stored files as objects of an S3 bucket; needs the extra `s3`."""
