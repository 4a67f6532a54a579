/** One page with everything: tables, figures, claims, costs. Self-contained: it asks for nothing. */
import type { Costs } from '../costs/costs.ts';
import type { Ordering, Outcome, Table } from '../outcome.ts';
import { escapeText } from './escape.ts';
import { figureSvg } from './svg.ts';

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.5rem 0 1.5rem}th,td{padding:.25rem .7rem;border-bottom:1px solid #8885;text-align:right}td{white-space:nowrap}
th:first-child,td:first-child{text-align:left}.wide{overflow-x:auto}figure{margin:1rem 0;max-width:46rem}svg{width:100%;height:auto;border-radius:6px}
.holds{color:#0a7d36}.fails{color:#c0392b}@media(prefers-color-scheme:dark){.holds{color:#5dd28a}.fails{color:#ff8a7a}}li{margin:.2rem 0}small{opacity:.8}`;

export function reportHtml(outcomes: readonly Outcome[], costs: Costs): string {
  const { cpu, architecture, cores, node, load, date } = costs.machine;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>BASA: experiments</title><style>${STYLE}</style>
<h1>BASA: experiments</h1>
<p>Virtual time with measured costs: ${escapeText(cpu)} (${architecture}, ${cores} cores), Node ${node}, load ${load}, ${date}. Durations are processor time of one thread; the users of a protocol work at the same time, authority and server queue.</p>
${outcomes.map(sectionOf).join('\n')}
<h2>Costs</h2>${tableHtml(costsTable(costs))}
</html>
`;
}

function sectionOf({ experiment, title, profile, tables, figures, orderings, notes }: Outcome): string {
  return `<section id="${experiment}"><h2>${escapeText(title)}</h2><p><small>profile ${profile}</small></p>
${tables.map(tableHtml).join('\n')}
${figures.map((figure) => `<figure>${figureSvg(figure)}</figure>`).join('\n')}
<h3>Expected, written down before the run</h3><ul>${orderings.map(orderingHtml).join('')}</ul>
<h3>To read this</h3><ul>${notes.map((note) => `<li>${escapeText(note)}</li>`).join('')}</ul></section>`;
}

function tableHtml({ title, columns, rows, note }: Table): string {
  const head = columns.map((name) => `<th scope="col">${escapeText(name)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeText(cell)}</td>`).join('')}</tr>`).join('\n');
  return `<h3>${escapeText(title)}</h3><div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>${note === undefined ? '' : `<p>${escapeText(note)}</p>`}`;
}

function orderingHtml({ claim, holds, seen }: Ordering): string {
  const numbers = seen.map(
    (one) =>
      `${one.where}: ${one.isGivenUp ? '> ' : ''}${one.left.toPrecision(4)} against ${one.right.toPrecision(4)}${one.holds ? '' : ' (no)'}`,
  );
  return `<li><strong class="${holds ? 'holds' : 'fails'}">${holds ? 'holds' : 'does not hold'}</strong> ${escapeText(claim)}<details><summary>${seen.length === 1 ? 'one place' : `${seen.length} places`}</summary><small>${escapeText(numbers.join('; '))}</small></details></li>`;
}

function costsTable(costs: Costs): Table {
  const ms = (value: number): string => value.toPrecision(3);
  const spread = (value: number): string => `${(100 * value).toFixed(0)} %`;
  return {
    title: 'Operations, median milliseconds of processor time',
    columns: ['operation', 'ms', 'spread'],
    rows: [
      ...Object.entries(costs.sealing).flatMap(([engine, prices]) =>
        (['seal', 'prepare', 'online', 'open', 'openByNewKey', 'issue'] as const).map((name) => [
          `${engine}: ${name}`,
          ms(prices[name].ms),
          spread(prices[name].spread),
        ]),
      ),
      ...Object.entries(costs.vectors).flatMap(([dimension, prices]) =>
        Object.entries(prices).map(([name, price]) => [
          `${name}, d = ${Number(dimension).toLocaleString('en')}`,
          ms(price.ms),
          spread(price.spread),
        ]),
      ),
      ...Object.entries(costs.training).map(([model, price]) => [
        `one example, ${model}`,
        ms(price.ms),
        spread(price.spread),
      ]),
      ['one durable record (time on the clock)', ms(costs.durable.ms), spread(costs.durable.spread)],
    ],
  };
}
