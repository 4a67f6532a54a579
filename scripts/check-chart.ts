/**
 * `npm run gate -- chart`: the values of the Helm chart fit their schema, and every document that it renders, with the defaults and with
 * the values in ci/, is one of Kubernetes; deploy/kubernetes is what the chart renders. Says so if Go, which renders it, is not there.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { parse, parseAllDocuments } from 'yaml';
import {
  documentsOf,
  missingToRender,
  plainManifest,
  render,
  SCHEMA_FILE,
  VALUES_FILES,
  valuesWith,
} from './chart/chart.ts';
import { type KubernetesDocument, kubernetesProblems } from './chart/kubernetes.ts';
import { checkValues, schemaText } from './chart/values-schema.ts';

const ROLES = ['server', 'authority'];
const problems: string[] = [];
const manifests = ROLES.map((role) => readFileSync(join(ROOT, `deploy/kubernetes/${role}.yaml`), 'utf8'));
const documents = manifests
  .flatMap((text) => parseAllDocuments(text, { version: '1.1' }))
  .map((one) => one.toJS() as KubernetesDocument);
const sets = [{}, { role: 'authority' }, ...VALUES_FILES].map(valuesWith);
if (readFileSync(SCHEMA_FILE, 'utf8') !== schemaText())
  problems.push('values.schema.json is not what the configuration says; run `npm run write -- chart`');
for (const values of sets) checkValues(values);
const missing = missingToRender();
if (missing !== undefined) console.log(missing);
else {
  for (const values of sets)
    documents.push(...documentsOf(render(values)).map((text) => parse(text, { version: '1.1' }) as KubernetesDocument));
  ROLES.forEach((role, n) => {
    if (plainManifest(role) !== manifests[n])
      problems.push(
        `deploy/kubernetes/${role}.yaml is not what the chart renders; change the chart and run \`npm run write -- chart\``,
      );
  });
}
problems.push(...[kubernetesProblems(documents)].filter((text) => text !== ''));
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`${documents.length} documents for Kubernetes are valid`);
process.exitCode = problems.length === 0 ? 0 : 1;
