# Writes example.csv and ranks.csv beside this file: Rscript oracle.R (base R alone, 4.2.2).
#
# example.csv: the three simulated tasks of Wiesenfarth et al. 2021, Sci. Rep. 11:2369 ("Methods and open-source
# toolkit for analyzing and visualizing challenge results"), as the documentation of challengeR draws them.
# ranks.csv: the ranks that its definitions give: aggregate then rank, rank then aggregate, and test then rank
# (one-sided paired Wilcoxon tests of all ordered pairs by the normal approximation with continuity
# correction; a team's score is the number of teams that it beats significantly).

teams <- paste0("A", 1:5)

set.seed(4)
invisible(runif(50))
low <- c(.9, .8, .7, .6, .5)
high <- c(1, .89, .79, .69, .59)
ideal <- sapply(1:5, function(i) runif(50, low[i], high[i]))

set.seed(1)
random <- matrix(plogis(rnorm(250, 1.5, 1)), 50)

permutations <- function(x) {
  if (length(x) <= 1) return(list(x))
  do.call(c, lapply(seq_along(x), function(i) lapply(permutations(x[-i]), function(rest) c(x[i], rest))))
}
strip <- seq(.8, 1, length.out = 5)
worst <- t(sapply(permutations(1:5), function(order) strip[order]))

tasks <- list(ideal = ideal, random = random, worst = worst)
long <- do.call(rbind, lapply(names(tasks), function(task) {
  values <- tasks[[task]]
  data.frame(task = task, team = rep(teams, each = nrow(values)), case = rep(seq_len(nrow(values)), 5),
             value = signif(c(values), 15))
}))
write.csv(long, "example.csv", row.names = FALSE, quote = FALSE)

wins <- function(values, adjust) {
  pairs <- subset(expand.grid(a = 1:5, b = 1:5), a != b)
  p <- apply(pairs, 1, function(pair) wilcox.test(values[, pair[1]], values[, pair[2]], paired = TRUE,
                                                   alternative = "greater", exact = FALSE)$p.value)
  beats <- p.adjust(p, adjust) <= 0.05
  sapply(1:5, function(team) sum(beats[pairs$a == team], na.rm = TRUE))
}

ranked <- function(task, scheme, ties) {
  values <- round(tasks[[task]], 12)
  of_cases <- function() t(apply(-values, 1, rank, ties.method = ties))
  score <- switch(scheme,
    "mean-then-rank" = -signif(colMeans(values), 12),
    "median-then-rank" = -apply(values, 2, median),
    "quantile-then-rank" = -apply(values, 2, quantile, probs = 0.05),
    "rank-then-mean" = colMeans(of_cases()),
    "rank-then-median" = apply(of_cases(), 2, median),
    "test-then-rank" = -wins(values, "holm"),
    "test-then-rank, unadjusted" = -wins(values, "none"))
  rank(score, ties.method = ties)
}

schemes <- c("mean-then-rank", "median-then-rank", "quantile-then-rank", "rank-then-mean", "rank-then-median",
             "test-then-rank", "test-then-rank, unadjusted")
rows <- list()
for (task in names(tasks)) for (scheme in schemes) for (ties in c("min", "average", "max")) {
  ranks <- ranked(task, scheme, ties)
  rows[[length(rows) + 1]] <- data.frame(task = task, scheme = scheme, ties = ties, t(setNames(ranks, teams)))
}
write.csv(do.call(rbind, rows), "ranks.csv", row.names = FALSE, quote = TRUE)
