/** `npm run write -- vectors`: writes conformance/vectors/*.json anew. Review the diff: a changed vector is a changed protocol. */
import { writeFileSync } from 'node:fs';
import { formatVectors, VECTOR_FILES } from '@basa/testkit/vectors/all.ts';

for (const [name, make] of Object.entries(VECTOR_FILES)) {
  const path = new URL(`../conformance/vectors/${name}`, import.meta.url);
  writeFileSync(path, formatVectors(await make()));
  console.log(`conformance/vectors/${name}`);
}
