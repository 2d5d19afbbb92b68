package memlimit

import "os"

func machine() int64 { return On(os.DirFS("/")) }
