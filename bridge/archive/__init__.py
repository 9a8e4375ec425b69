"""The archive as a whole: exports of platforms in, exports of any format out."""
