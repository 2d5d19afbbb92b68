package archtest_test

import (
	"go/ast"
	"slices"
)

// Who may touch permits. Whatever lets a call through must hold a permit for it, so the
// places that make one and use one up are few and have names.
var (
	permitGiver     = "decide" // in the engine, the only function that hands one out
	permitHome      = "internal/engine"
	permitMaker     = "newPermit" // what it may call to make one
	permitRedeemers = map[string]string{
		"internal/box/keeper.run":      "a command for a box, by the ticket that stands for its permit",
		"internal/httpapi.release":     "the only answer to a host that does not block",
		"internal/llm/release.decide":  "a call in a model's answer, held until then",
		"internal/mcp/judge.release":   "a call on its way to an MCP server",
		"internal/reports/replay.call": "a recorded call that would have run",
		"internal/reports/replay.box":  "a recorded call that would have run in a box",
		"internal/httpapi.lookUps":     "the monitor's own look-up, which the host makes",
		"internal/mcp/judge.lookUps":   "the monitor's own look-up, on its way to an MCP server",
		"internal/httpapi.openBox":     "the only answer to a box that lets a command in it have something outside",
		"internal/httpapi.confine":     "the only answer to a host that has a call run in a box",
		"internal/test/scenario.Call":  "a story's own host, for the door without a network",
	}
)

// permitForwarders ask for a decision and hand the whole verdict on.
var permitForwarders = map[string]string{
	".":                   "an embedding program redeems",
	"internal/waiting":    "it waits for the owner's answer on behalf of a door, which redeems",
	"internal/llm/proxy":  "package release holds the call and redeems",
	"internal/llm/format": "it finds the calls; package release, which it asks, redeems",
}

// checkPermit keeps the chain from decision to act: only Monitor.Decide makes a Permit,
// only the functions named above redeem one, and a package that asks for a decision
// also redeems what it gets.
func checkPermit(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		var decides []ast.Node
		redeems := false
		for _, f := range p.code() {
			if p.dir == permitHome {
				checkMakers(out, f)
				continue
			}
			checkForged(out, f)
			eachCall(f, func(fn *ast.FuncDecl, call *ast.CallExpr, method string) {
				switch method {
				case "Decide":
					decides = append(decides, call)
				case "Redeem", "RedeemBoxed":
					redeems = true
					if fn == nil || permitRedeemers[p.dir+"."+fn.Name.Name] == "" {
						out.at(call.Pos(), "a permit is redeemed here, and it is not among the places that may")
					}
				}
			})
		}
		if !redeems && permitForwarders[p.dir] == "" {
			for _, call := range decides {
				out.at(call.Pos(), "%s asks for a decision and never redeems a permit", p.dir)
			}
		}
	}
	return out.list
}

// checkMakers looks for permits that the engine makes or hands out anywhere but on the
// path of Decide.
func checkMakers(out *findings, f *file) {
	eachFunc(f, func(fn *ast.FuncDecl, n ast.Node) {
		in := ""
		if fn != nil {
			in = fn.Name.Name
		}
		switch n := n.(type) {
		case *ast.CompositeLit:
			if isName(n.Type, "Permit") && in != permitMaker && in != permitGiver {
				out.at(n.Pos(), "a permit is made outside %s", permitGiver)
			}
		case *ast.CallExpr:
			if isName(n.Fun, permitMaker) && in != permitGiver {
				out.at(n.Pos(), "a permit is handed out outside %s", permitGiver)
			}
			if isName(n.Fun, "new") && isName(n.Args[0], "Permit") {
				out.at(n.Pos(), "a permit is made outside %s", permitGiver)
			}
		}
	})
}

func isName(e ast.Expr, name string) bool {
	x, ok := e.(*ast.Ident)
	return ok && x.Name == name
}

// checkForged looks for permits that were not handed out: every use of the type but a
// pointer to it makes one.
func checkForged(out *findings, f *file) {
	names := []string{localName(f, module), localName(f, module+"/"+permitHome)}
	pointed := map[ast.Expr]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr:
			pointed[n.X] = true
		case *ast.TypeSpec:
			if n.Assign.IsValid() {
				pointed[n.Type] = true // another name for the type makes none
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(names, x.Name) && n.Sel.Name == "Permit" && !pointed[n] {
				out.at(n.Pos(), "only Monitor.Decide makes a permit")
			}
		}
		return true
	})
}

// eachCall visits the method calls of a file with the function they stand in.
func eachCall(f *file, visit func(fn *ast.FuncDecl, call *ast.CallExpr, method string)) {
	eachFunc(f, func(fn *ast.FuncDecl, n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				visit(fn, call, sel.Sel.Name)
			}
		}
	})
}

// eachFunc visits every node of a file with the function it stands in, nil for none.
func eachFunc(f *file, visit func(fn *ast.FuncDecl, n ast.Node)) {
	for _, d := range f.ast.Decls {
		fn, _ := d.(*ast.FuncDecl)
		ast.Inspect(d, func(n ast.Node) bool {
			if n != nil {
				visit(fn, n)
			}
			return true
		})
	}
}
