/** `npm run write -- wasm`: compiles the kernels and writes what is committed. */
import { writeFileSync } from 'node:fs';
import { compileKernels } from './wasm-kernels.ts';

for (const { path, bytes } of compileKernels()) {
  writeFileSync(path, bytes);
  console.log(`${path}: ${bytes.length} bytes`);
}
