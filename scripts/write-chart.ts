/** `npm run write -- chart`: writes the schema of the chart's values, and the manifests of deploy/kubernetes from the chart. The manifests need Go. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { missingToRender, plainManifest, SCHEMA_FILE } from './chart/chart.ts';
import { schemaText } from './chart/values-schema.ts';

writeFileSync(SCHEMA_FILE, schemaText());
const missing = missingToRender();
if (missing !== undefined) throw new Error(missing);
for (const role of ['server', 'authority'])
  writeFileSync(join(ROOT, `deploy/kubernetes/${role}.yaml`), plainManifest(role));
