"""Did a suite get worse than its baseline: what is slower, failing or missing, and what is not certain?"""
