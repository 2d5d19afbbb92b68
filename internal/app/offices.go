package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/diagnosis"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/console"
	"github.com/tidemark/tidemark/internal/services"
)

// offices are what the console's pages ask of the rest of the program.
func (a *App) offices() console.Offices {
	return console.Offices{
		Verify: a.verifyLog, Try: a.policy.Try, Doctor: a.examine, Status: a.reached,
		Policy: a.policy.File(),
	}
}

// prove checks that somebody who wants what said says has typed the secret, where one is required,
// and records it. A passkey cannot be touched from here: that is for the console.
func (a *App) prove(ctx context.Context, by, said, secret string) error {
	if a.keys.Required() == approvalproof.None {
		return nil
	}
	kept, err := a.keys.Check(said, nil, secret)
	if err != nil {
		return err
	}
	return a.keys.Record(ctx, event.Person{Act: "proved", By: by, Via: "http", Detail: said, Proof: kept})
}

func (a *App) verifyLog(ctx context.Context) (console.Verified, error) {
	report, good, err := installation.VerifyAll(ctx, a.log, nil)
	if err != nil {
		return console.Verified{}, err
	}
	out := console.Verified{
		Records: report.Records, Sessions: report.Sessions, Proofs: good,
		Head: fmt.Sprintf("%d:%s", report.Head.Batch, report.Head.Hash),
	}
	for _, b := range report.Breaks {
		out.Breaks = append(out.Breaks, b.String())
	}
	return out, nil
}

// examine is the doctor, without trying real agents.
func (a *App) examine(ctx context.Context) ([]console.Finding, error) {
	w, err := install.HomeWorld(a.policy.Paths(), "", "")
	if err != nil {
		return nil, err
	}
	d, err := diagnosis.Examine(ctx, diagnosis.Options{Paths: a.policy.Paths(), World: w})
	out := make([]console.Finding, 0, len(d.Findings))
	for _, f := range d.Findings {
		out = append(out, console.Finding{Grade: f.Grade.String(), Name: strings.TrimSpace(f.About + " " + f.Name),
			Text: f.Text, Fix: f.Fix})
	}
	return out, err
}

// reached says of everybody the monitor asks whether they can be reached.
func (a *App) reached(ctx context.Context) []console.Finding {
	var out []console.Finding
	for _, p := range a.Status(ctx) {
		f := console.Finding{Grade: "good", Name: p.Name, Text: p.Detail}
		if !p.OK {
			f.Grade, f.Text = "broken", strings.TrimSpace(p.Detail+" "+p.Fault)
			if p.Name == a.external.Settings.Section {
				f.Fix = services.ModelCommand
			}
		}
		out = append(out, f)
	}
	if a.external.Auditor == nil && a.external.Settings.Missing == "" { // of one that is missing there is a part
		out = append(out, console.Finding{Grade: "limit", Name: "reader", Text: services.NoReader, Fix: services.ModelCommand})
	}
	return out
}
