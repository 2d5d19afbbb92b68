module example.com/host

go 1.26.0

require github.com/tidemark/tidemark v0.0.0
