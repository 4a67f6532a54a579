/** Writes one page with verdicts, tables, figures (separate files), claims and costs. The page loads nothing from other machines. */

import { type Costs, escapeText, type Figure, STYLE } from '@basa/simulator/virtual-time';
import { costsTables } from './costs-table.ts';
import { comparisonText, type Ordering, type Outcome, type Table } from './outcome.ts';
import type { Verdict } from './verdict.ts';

/** `command` is the command line that made the page, if there is one. */
export function reportHtml(outcomes: readonly Outcome[], costs: Costs, command?: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>BASA: experiments</title><style>${STYLE}</style></head><body>
<header><h1>BASA: experiments</h1>
${smokeBanner(outcomes)}
<p>Virtual time with measured costs. Users of a protocol work at the same time; authority, server and the turn of the paper queue. Every update is really trained.</p></header>
${summaryHtml(outcomes)}
${contentsHtml(outcomes)}
${machineHtml(costs, command)}
${outcomes.map(sectionHtml).join('\n')}
<section id="costs"><h2>Costs</h2><p>Times are median milliseconds of CPU time on one thread. The spread is the interquartile range divided by the median. <a href="costs.json.gz">costs.json.gz</a></p>
${costsTables(costs).map(tableHtml).join('\n')}</section>
</body></html>
`;
}

/** Numbers of the smallest profile must not be taken for results. */
function smokeBanner(outcomes: readonly Outcome[]): string {
  return outcomes.some(({ profile }) => profile === 'smoke')
    ? '<p class="smoke" role="alert">smoke: not meaningful</p><p>These tiny runs only show that everything works. No number on this page is a result. For results, run the profile small or full.</p>'
    : '';
}

/** The summary for a reader with two minutes: every claim of the paper, then ours, each with its verdict. */
function summaryHtml(outcomes: readonly Outcome[]): string {
  const all = outcomes.flatMap(({ experiment, orderings }) => orderings.map((one) => ({ experiment, ...one })));
  const [paper, ours] = [all.filter(isOfPaper), all.filter((one) => !isOfPaper(one))];
  return `<section id="summary"><h2>Summary</h2>
<p>Claims are written before a run. The documentation of these results says which claims were replaced after a run. A claim is judged over seeds that both sides share: it holds if the 95 % interval of the mean ratio lies within the claim, does not hold if it lies outside, and is not decided otherwise.</p>
${claimsHtml('Claims of the paper', paper)}
${claimsHtml('Our own claims', ours)}</section>`;
}

interface SummedClaim extends Ordering {
  readonly experiment: string;
}

function isOfPaper({ source }: Ordering): boolean {
  return source.startsWith('paper');
}

/** Lists the claims that do not hold first. */
function claimsHtml(title: string, claims: readonly SummedClaim[]): string {
  const verdicts = ['does not hold', 'not decided', 'holds'] as const;
  const rows = verdicts.flatMap((verdict) =>
    claims
      .filter((one) => one.verdict === verdict)
      .map(
        ({ experiment, claim, source }) =>
          `<tr><td>${verdictHtml(verdict)}</td><td>${escapeText(claim)}${sourceHtml(source)}</td><td><a href="#${experiment}">${experiment}</a></td></tr>`,
      ),
  );
  return `<h3>${title}</h3><p class="score">${countsText(claims)}</p><details${title.startsWith('Claims') ? ' open' : ''}><summary>All claims</summary><div class="wide"><table><tbody>${rows.join('\n')}</tbody></table></div></details>`;
}

function sourceHtml(source: string): string {
  return source.startsWith('paper') ? `<br><small>${escapeText(source)}</small>` : '';
}

function verdictHtml(verdict: Verdict): string {
  return `<strong class="${verdict === 'holds' ? 'holds' : verdict === 'does not hold' ? 'fails' : 'open'}">${verdict}</strong>`;
}

function countsText(claims: readonly Ordering[]): string {
  const count = (verdict: Verdict): number => claims.filter((one) => one.verdict === verdict).length;
  return `<strong>${count('holds')}</strong> of ${claims.length} hold, ${count('does not hold')} do not, ${count('not decided')} are not decided.`;
}

function contentsHtml(outcomes: readonly Outcome[]): string {
  const items = outcomes.map(
    ({ experiment, title, orderings }) =>
      `<li><a href="#${experiment}">${escapeText(title)}</a> <small>${countsText(orderings)}</small></li>`,
  );
  return `<nav aria-label="Contents"><h2>Contents</h2><ol>${items.join('')}<li><a href="#costs">Costs</a></li></ol></nav>`;
}

function machineHtml({ machine }: Costs, command: string | undefined): string {
  const { cpu, architecture, cores, node, load, date } = machine;
  return `<section id="run"><h2>Machine and command</h2><p>Costs were measured on ${escapeText(cpu)} (${architecture}, ${cores} cores), Node ${node}, load ${load}, ${date}.</p>
${command === undefined ? '' : `<p>To make this page again, run: <code>${escapeText(command)}</code></p>`}</section>`;
}

function sectionHtml({ experiment, title, profile, tables, figures, orderings, notes }: Outcome): string {
  return `<section id="${experiment}"><h2>${escapeText(title)}</h2>
<p class="run">Profile ${profile}. To run it again: <code>npm run lab -- experiment ${experiment} --profile ${profile}</code>. Rows: <a href="${experiment}.csv">${experiment}.csv</a></p>
${profile === 'smoke' ? '<p class="smoke">smoke: not meaningful</p>' : ''}
${tables.map(tableHtml).join('\n')}
<div class="figures">${figures.map(figureHtml).join('\n')}</div>
<h3>Expected, written down before the run</h3><ul class="claims">${orderings.map(orderingHtml).join('')}</ul>
<h3>Notes</h3><ul>${notes.map((note) => `<li>${escapeText(note)}</li>`).join('')}</ul></section>`;
}

function figureHtml(figure: Figure): string {
  return `<figure><img src="${figure.name}.svg" alt="${escapeText(figure.title)}"><figcaption><a href="${figure.name}.svg">${figure.name}.svg</a></figcaption></figure>`;
}

function tableHtml({ title, groups = [], columns, rows, note }: Table): string {
  const grouped = groups.map(
    (group) => `<th colspan="${group.columns}" scope="colgroup">${escapeText(group.title)}</th>`,
  );
  const begins = groupStarts(groups);
  const mark = (column: number): string => (begins.has(column) ? ' class="first"' : '');
  const head = columns.map((name, n) => `<th scope="col"${mark(n)}>${escapeText(name)}</th>`).join('');
  const body = rows
    .map((row) => `<tr>${row.map((cell, n) => `<td${mark(n)}>${escapeText(cell)}</td>`).join('')}</tr>`)
    .join('\n');
  return `<h3>${escapeText(title)}</h3><div class="wide"><table><thead>${grouped.length === 0 ? '' : `<tr class="groups">${grouped.join('')}</tr>`}<tr>${head}</tr></thead><tbody>${body}</tbody></table></div>${note === undefined ? '' : `<p>${escapeText(note)}</p>`}`;
}

/** The columns at which a group begins, without the first group. */
function groupStarts(groups: readonly { readonly columns: number }[]): ReadonlySet<number> {
  const starts = new Set<number>();
  let at = 0;
  for (const { columns } of groups) {
    if (at > 0) starts.add(at);
    at += columns;
  }
  return starts;
}

/** Shows both numbers of every comparison. Those that do not hold come first. */
function orderingHtml({ claim, source, verdict, seen }: Ordering): string {
  const open = seen.filter((one) => one.verdict !== 'holds');
  const rest = seen.filter((one) => one.verdict === 'holds');
  const places = seen.length === 1 ? 'one comparison' : `${seen.length} comparisons`;
  return `<li>${verdictHtml(verdict)} ${escapeText(claim)}${sourceHtml(source)}${
    open.length === 0 ? '' : `<br><small class="fails">${escapeText(open.map(comparisonText).join('; '))}</small>`
  }<details><summary>${places}${seen.length === 0 ? ': not run' : ''}</summary><small>${escapeText(rest.map(comparisonText).join('; '))}</small></details></li>`;
}
