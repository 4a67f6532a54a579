/** A process that holds a device until it is killed. */
import { openFolderStore } from '../../src/node/index.ts';

await openFolderStore(process.argv[2] ?? '');
console.log('held');
setInterval(() => undefined, 1000);
