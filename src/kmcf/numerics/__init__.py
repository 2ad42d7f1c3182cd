"""Arrays and their namespaces, factorisations, random numbers, angles, poses, collections of objects."""
