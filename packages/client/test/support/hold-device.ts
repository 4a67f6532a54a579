/** A process that holds a device until it is killed, or says that another one has it. */
import { openFolderStore } from '../../src/node/index.ts';

try {
  await openFolderStore(process.argv[2] ?? '');
  console.log('held');
  setInterval(() => undefined, 1000);
} catch (error) {
  console.log(`busy: ${(error as Error).message}`);
}
