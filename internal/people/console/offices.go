package console

import (
	"context"
	"errors"
	"net/http"

	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/policyfile"
)

// Offices are what the console asks others to do for its pages; nil: the page says that this
// server has none.
type Offices struct {
	// Verify checks the whole log and every proof in it.
	Verify func(ctx context.Context) (Verified, error)
	// Try decides one call in a conversation; nothing is recorded.
	Try func(ctx context.Context, t policyfile.Trial) (policyfile.Tried, error)
	// Policy is the file of the policy; its zero functions mean that it is not ours to change.
	Policy policyfile.PolicyFile
	// Doctor examines server, doors and agents.
	Doctor func(ctx context.Context) ([]Finding, error)
	// Status says of everybody the monitor asks whether they can be reached.
	Status func(ctx context.Context) []Finding
}

// Verified is what a check of the log found.
type Verified struct {
	Records, Sessions int64
	Head              string
	Proofs            int // signatures that are good
	Breaks            []string
}

// Finding is something that was looked at.
type Finding struct{ Grade, Name, Text, Fix string }

// explainKey is explain for what the keeper of the keys says, all of which is for people.
func (c *Console) explainKey(v *visit, err error) (int, string) {
	if errors.Is(err, approvalproof.ErrRole) {
		return http.StatusForbidden, "Not done: " + err.Error() + "."
	}
	status, text := c.explain(v.r.Context(), err)
	if status == http.StatusInternalServerError {
		return http.StatusBadRequest, "Not done: " + err.Error() + "."
	}
	return status, text
}

// more adds the pages of looking back.
func (c *Console) more() {
	c.post(actChallenge, c.actChallenge)
	c.get("/console/sessions", c.sessionsPage)
	c.get("/console/session", c.sessionPage)
	c.post("/console/session/act", c.sessionAct)
	c.get("/console/audit", c.auditPage)
	c.get("/console/audit/export", c.auditExport)
	c.get("/console/audit/verify", c.auditVerify)
	c.get("/console/policy", c.policyPage)
	c.post("/console/policy/try", c.policyTry)
	c.post("/console/policy/edit", c.policyEdit)
	c.get("/console/tools", c.toolsPage)
	c.get(historyPath, c.historyPage)
	c.get("/console/health", c.healthPage)
	c.get("/console/reports", c.reportsPage)
	c.get("/console/labels", c.labelsPage)
	c.post("/console/labels", c.clearLabel)
	c.get("/console/writes", c.writesPage)
	c.post("/console/writes", c.reviewWrite)
	c.get("/console/servers", c.serversPage)
	c.post("/console/servers", c.acceptDefinition)
	c.post(noticesPath, c.answerNotice)
}
