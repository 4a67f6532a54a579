/** A proxy before a PostgreSQL that cuts a connection at the worst moment: the commit is durable, and nobody is told. */
import { type DatabaseProxy, databaseProxy } from '@basa/testkit/processes/database-proxy.ts';

export interface CuttingProxy extends DatabaseProxy {
  /** The number of answers to a commit that will be lost. */
  cutCommits: number;
}

/** The tag that PostgreSQL answers a commit with. */
const COMMITTED = Buffer.from('COMMIT\0');

export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const plain = await databaseProxy(
    () => target,
    (near, far) => {
      near.on('data', (bytes) => far.write(bytes));
      far.on('data', (bytes) => {
        if (proxy.cutCommits > 0 && bytes.includes(COMMITTED)) {
          proxy.cutCommits--;
          near.destroy();
        } else near.write(bytes);
      });
    },
  );
  const proxy: CuttingProxy = { ...plain, cutCommits: 0 };
  return proxy;
}
