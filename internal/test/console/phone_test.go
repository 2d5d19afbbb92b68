package console_test

import (
	"strings"
	"testing"
)

// brokenWords are words of ours that are parted inside by the end of a line. Names, values and commands of others may be: they have no blanks.
const brokenWords = `(() => {
	const out = new Set(), walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
	for (let node; node = walk.nextNode();) {
		const at = node.parentElement;
		if (!at.checkVisibility() || at.closest('bdi:not(.prose), code, samp, pre, .pre, mark, q, textarea, svg, option')) continue;
		for (const m of node.data.matchAll(/[\p{L}\p{N}.]+/gu)) {
			if (m[0].length > 24) continue;
			const range = document.createRange();
			range.setStart(node, m.index);
			range.setEnd(node, m.index + m[0].length);
			if (new Set([...range.getClientRects()].filter(r => r.width).map(r => Math.round(r.top))).size > 1) out.add(m[0]);
		}
	}
	return [...out].slice(0, 5).join(', ');
})()`

// sideBySide are tables whose cells stand beside one another.
const sideBySide = `[...document.querySelectorAll('main table')].filter(t => t.checkVisibility() && [...t.rows].some(r => {
	const cells = [...r.cells].filter(c => c.checkVisibility() && c.offsetHeight > 1);
	return !r.closest('thead') && cells.some((c, i) => i && c.getBoundingClientRect().top < cells[i - 1].getBoundingClientRect().bottom - 1);
})).map(t => t.caption?.textContent ?? t.outerHTML.slice(0, 60)).join('; ')`

// CON-14 CON-33: on a phone every table is a list whose entries say what they are, and no word of ours is parted inside, on no page.
func TestTablesAreListsOnAPhone(t *testing.T) {
	full(t)
	w := noticed(t)
	q := w.ask("laptop/claude/42")
	b := w.browser()
	b.signIn("admin")
	pages := append(everyPage(q.Session, q.ID), "/console/health?try=1")
	for _, width := range []int64{1280, 390} {
		b.size(width, 844)
		for _, path := range pages {
			b.open(path)
			if words := js[string](b, brokenWords); words != "" {
				t.Errorf("%s at %d: parted inside: %s", path, width, words)
			}
			if width > 640 {
				continue
			}
			if tables := js[string](b, sideBySide); tables != "" {
				t.Errorf("%s at %d: cells stand beside one another in: %s", path, width, tables)
			}
			if path != "/console/tools" {
				continue
			}
			if said := js[string](b, `getComputedStyle(document.querySelector('.rowwise td.n'), '::before').content`); !strings.Contains(said, "Calls") {
				t.Errorf("a cell of the table says %s", said)
			}
			b.picture("phone-tools")
		}
	}
}
