/** Events of the core appear in the metrics of the server. */
import { expect, it } from 'vitest';
import { ServerWatch } from '../../src/watch/server-watch.ts';
import { task } from '../support/store-samples.ts';

it('wrong answers of an authority are counted by its index', async () => {
  const watch = new ServerWatch();
  for (const subject of ['mask-sum', 'guard-words', 'mask-sum'] as const)
    watch.note({ kind: 'authority-fault', task, authority: 2, subject });
  const text = await watch.metrics.text();
  const counted = [...text.matchAll(/^basa_authority_faults_total\{.*authority="2",subject="([^"]*)"\} (\d+)$/gm)];
  expect(counted.map(([, ...one]) => one)).toEqual([
    ['mask-sum', '2'],
    ['guard-words', '1'],
  ]);
});
