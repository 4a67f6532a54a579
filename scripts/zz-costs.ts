import { STUDIES } from '../packages/experiments/src/studies/all.ts';
import { allNeeds, measureCosts } from '../packages/experiments/src/costs/needs.ts';
import { CAREFUL } from '../packages/experiments/src/costs/sampling.ts';
import { readFileSync, existsSync, writeFileSync } from 'node:fs';
const names = process.argv.slice(3); const file = process.argv[2]!;
const known = existsSync(file) ? JSON.parse(readFileSync(file,'utf8')) : undefined;
const b = performance.now();
for (let n = 0; n < 60; n++) try {
await measureCosts(allNeeds(STUDIES.filter((s) => names.includes(s.name)).map((s) => s.needs('small'))), { sampling: CAREFUL, known: existsSync(file) ? JSON.parse(readFileSync(file,'utf8')) : known, date: '2026-11-15', step: (w) => console.log(((performance.now()-b)/1000).toFixed(0), w) }, (c) => writeFileSync(file, JSON.stringify(c)));
break; } catch (e) { console.log(String(e)); }
console.log('done', (performance.now()-b)/1000);
