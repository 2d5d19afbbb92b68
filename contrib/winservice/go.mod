module github.com/tidemark/tidemark/contrib/winservice

go 1.26.0

require golang.org/x/sys v0.49.0
