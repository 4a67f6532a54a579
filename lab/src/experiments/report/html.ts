/** One page with everything: what holds, tables, figures (files beside it), claims, costs. It asks no other machine for anything. */

import { type Costs, escapeText, type Figure, STYLE } from '@basa/virtual-time';
import { costsTables } from './costs-table.ts';
import type { Ordering, Outcome, Table } from './outcome.ts';

/** `command` is what was typed to make the page, where somebody did. */
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
<section id="costs"><h2>Costs</h2><p>Median milliseconds of processor time of one thread; spread: interquartile range over median. <a href="costs.json.gz">costs.json.gz</a></p>
${costsTables(costs).map(tableHtml).join('\n')}</section>
</body></html>
`;
}

/** Numbers of the smallest profile must not be taken for results. */
function smokeBanner(outcomes: readonly Outcome[]): string {
  return outcomes.some(({ profile }) => profile === 'smoke')
    ? '<p class="smoke" role="alert">smoke: not meaningful</p><p>Tiny runs that show that everything works. No number on this page is a result; run the profile small or full for those.</p>'
    : '';
}

function summaryHtml(outcomes: readonly Outcome[]): string {
  const all = outcomes.flatMap(({ orderings }) => orderings);
  const holding = all.filter(({ holds }) => holds).length;
  const failing = outcomes.flatMap(({ experiment, orderings }) =>
    orderings.filter(({ holds }) => !holds).map(({ claim }) => ({ experiment, claim })),
  );
  const list = failing
    .map(({ experiment, claim }) => `<li><a href="#${experiment}">${experiment}</a>: ${escapeText(claim)}</li>`)
    .join('');
  return `<section id="summary"><h2>Summary</h2><p class="score"><strong>${holding}</strong> of ${all.length} claims hold, each written down before the run.</p>
${failing.length === 0 ? '' : `<p>These do not:</p><ul>${list}</ul>`}</section>`;
}

function contentsHtml(outcomes: readonly Outcome[]): string {
  const items = outcomes.map(({ experiment, title, orderings }) => {
    const holding = orderings.filter(({ holds }) => holds).length;
    return `<li><a href="#${experiment}">${escapeText(title)}</a> <small>${holding} of ${orderings.length} claims hold</small></li>`;
  });
  return `<nav aria-label="Contents"><h2>Contents</h2><ol>${items.join('')}<li><a href="#costs">Costs</a></li></ol></nav>`;
}

function machineHtml({ machine }: Costs, command: string | undefined): string {
  const { cpu, architecture, cores, node, load, date } = machine;
  return `<section id="run"><h2>What was run</h2><p>Costs were measured on ${escapeText(cpu)} (${architecture}, ${cores} cores), Node ${node}, load ${load}, ${date}.</p>
${command === undefined ? '' : `<p>This page again: <code>${escapeText(command)}</code></p>`}</section>`;
}

function sectionHtml({ experiment, title, profile, tables, figures, orderings, notes }: Outcome): string {
  return `<section id="${experiment}"><h2>${escapeText(title)}</h2>
<p class="run">Profile ${profile}. Run it again: <code>npm run lab -- experiment ${experiment} --profile ${profile}</code>. Rows: <a href="${experiment}.csv">${experiment}.csv</a></p>
${profile === 'smoke' ? '<p class="smoke">smoke: not meaningful</p>' : ''}
${tables.map(tableHtml).join('\n')}
<div class="figures">${figures.map(figureHtml).join('\n')}</div>
<h3>Expected, written down before the run</h3><ul class="claims">${orderings.map(orderingHtml).join('')}</ul>
<h3>To read this</h3><ul>${notes.map((note) => `<li>${escapeText(note)}</li>`).join('')}</ul></section>`;
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

/** The columns at which a group begins, but the first. */
function groupStarts(groups: readonly { readonly columns: number }[]): ReadonlySet<number> {
  const starts = new Set<number>();
  let at = 0;
  for (const { columns } of groups) {
    if (at > 0) starts.add(at);
    at += columns;
  }
  return starts;
}

/** Both numbers of every place; those that do not hold are seen at once. */
function orderingHtml({ claim, holds, seen }: Ordering): string {
  const told = (one: Ordering['seen'][number]): string =>
    `${one.where}: ${one.isGivenUp ? '> ' : ''}${shortNumber(one.left)} against ${shortNumber(one.right)}`;
  const failing = seen.filter((one) => !one.holds);
  const rest = seen.filter((one) => one.holds);
  const places = seen.length === 1 ? 'one place' : `${seen.length} places`;
  return `<li><strong class="${holds ? 'holds' : 'fails'}">${holds ? 'holds' : 'does not hold'}</strong> ${escapeText(claim)}${
    failing.length === 0 ? '' : `<br><small class="fails">${escapeText(failing.map(told).join('; '))}</small>`
  }<details><summary>${places}${seen.length === 0 ? ': not run' : ''}</summary><small>${escapeText(rest.map(told).join('; '))}</small></details></li>`;
}

function shortNumber(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : 'never';
}
