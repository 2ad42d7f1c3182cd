"""From examples to what a filter needs: kernels, regularisers, pairs made up, a Bayes' rule."""
