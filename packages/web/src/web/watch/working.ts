/** Whether a task gets on, in one sentence, and if not, why. */
import { gatheringText, type LiveState } from '@basa/protocol/http';
import { plural } from '../shared/format.ts';
import { gatheringOf } from '../shared/gathering.ts';

export type Progress = Pick<LiveState, 'admission' | 'buffers' | 'mode' | 'state' | 'versions' | 'why' | 'windows'>;

export function workingText(task: Progress): { readonly isWorking: boolean; readonly text: string } {
  const { admission, mode, state, versions, why, windows } = task;
  const reason = why === undefined ? '' : `: ${why}`;
  if (state === 'finished') return { isWorking: true, text: `The task is finished${reason}.` };
  if (state !== 'running')
    return { isWorking: false, text: `No: the task is ${state}${reason}. Its operator can resume it.` };
  const newest = versions.at(-1)?.version;
  // Positions and reports need no places.
  if (windows !== undefined || mode === 'paper') return { isWorking: true, text: 'Yes: the task is running.' };
  if (newest === undefined) return { isWorking: false, text: 'Not yet: the task is waiting for its first model.' };
  const { underWay, waitingBatches } = admission;
  if (waitingBatches > 0)
    return { isWorking: true, text: `Yes: ${plural(waitingBatches, 'batch is', 'batches are')} being opened.` };
  const gathering = gatheringOf(task);
  const lacks = gathering === undefined ? '' : gatheringText(gathering);
  const training = plural(underWay, 'device is training', 'devices are training');
  if (underWay > 0) return { isWorking: true, text: `Yes: ${training}${lacks === '' ? '' : `; ${lacks}`}.` };
  if (lacks !== '') return { isWorking: false, text: `It is waiting for devices: ${lacks}.` };
  return { isWorking: false, text: `It is waiting for devices: none is training for version ${newest + 1}.` };
}
