// Package valueindex answers one question about a value in a tool call: where did it come
// from? An Index holds everything that came into one context: the user's words, the
// operator's, and every tool result by field or as free text. It is pure.
//
// One normalisation serves what is indexed and what is looked up: NFKC, small letters,
// one spelling for dates, times, amounts, account and phone numbers, links and paths.
// It is not a decoder: what is encoded, reversed, split or written in look-alike
// letters is another value, and another value is Unseen.
//
// Invariants:
//   - the zero Class is Unseen, the strictest;
//   - only User makes a value User, only System makes one System: no result ever does;
//   - a value in free text is never Field or Anchored because of it; only the outer
//     structure of a result counts, and content that cannot be read as structure as a
//     whole is free text;
//   - Anchored needs the user's own words in one field and the value in another field of
//     the same record; words that most records of a result have, that an author uses for
//     themselves, or that lead to something else in another result anchor nothing;
//   - values are compared as tokens: nothing is found inside a longer word;
//   - hashes only lead to candidates, the text decides; so answers do not depend on the
//     seed of an index;
//   - beyond its limit old content is kept as hashes of words, which give Text at best;
//     what is forgotten is Unseen.
//
// An Index is not safe for concurrent use: whoever owns the session guards it.
package valueindex
