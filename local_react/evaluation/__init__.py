"""How well a model answers, with the agent and without: sets, arms, scores, a table.

items       a question, and a set of them
sets        the sets of a data folder, and files of a user's own
bfcl        the sets that ask for calls of functions: their tools, their match
corpus      paragraphs as documents, for the sets that are answered from some
scoring     whether an answer is right
statistics  how sure a share, a mean or a difference is
settings    the arms as a person writes them
arms        the ways to answer that are compared
rows        what one question came to in one arm; a file of those
runner      several questions at once
table       what it all came to
"""
