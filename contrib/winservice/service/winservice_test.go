package service_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/contrib/winservice/service"
)

func TestADefinitionCanBeReadAndTyped(t *testing.T) {
	d := service.Definition{
		Name: "tidemark", Title: "Tidemark", About: `says "no"`, Program: `C:\Program Files\Tidemark\tidemark.exe`,
		Args: []string{"serve", "--data", `C:\Users\anna b\data\`}, Account: `NT SERVICE\tidemark`,
	}
	text := d.String()
	for _, want := range []string{
		`binPath= "\"C:\Program Files\Tidemark\tidemark.exe\" serve --data \"C:\Users\anna b\data\\\\\""`,
		`obj= "NT SERVICE\tidemark"`, `description tidemark "says \"no\""`, "sc.exe start tidemark\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
}

func TestElsewhereThereIsNone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this is Windows")
	}
	d := service.Definition{Name: "tidemark"}
	if d.Install() == nil || d.Remove() == nil {
		t.Error("a service was made where there are none")
	}
	if _, was := service.Run("tidemark", func(context.Context) int { return 1 }); was {
		t.Error("this was started as a service")
	}
}
