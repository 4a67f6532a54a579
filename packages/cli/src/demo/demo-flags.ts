/** The flags of `basa demo`. */
import { bufferFlag, FEWEST, MODES } from '../flags/task.ts';
import * as flag from '../shell/command.ts';

export const DEMO_FLAGS = {
  statistics: flag.yes(
    'gather statistics instead of training a model: devices report numbers and choices, the results have error bars',
  ),
  mode: flag.choice(MODES, {
    help: "run only one of the two: paper, the paper's own protocol, or one-shot",
    without: 'both',
  }),
  devices: flag.whole({
    help: 'number of devices in each fleet',
    max: 10_000,
    without: '24, or twice --buffer; 48 with --statistics',
  }),
  buffer: flag.whole({ ...bufferFlag, min: FEWEST, default: 10 }),
  target: flag.whole({ value: 'percent', help: 'accuracy to reach', min: 1, max: 100, default: 88 }),
  further: flag.whole({ help: 'number of buffers to run after the target is reached', max: 1000, default: 5 }),
  buffers: flag.whole({ help: 'stop a run after n buffers', min: 1, default: 100 }),
  seconds: flag.whole({ help: 'stop a run after n seconds', min: 1, default: 600 }),
  drop: flag.whole({
    value: 'percent',
    help: 'one-shot: share of contributions that drop out before their upload',
    max: 90,
    default: 8,
  }),
  seed: flag.whole({ help: 'random seed for data shares, parameters and drop-outs', max: 2 ** 31, default: 1 }),
  folder: flag.text({
    value: 'path',
    help: 'folder for data and logs, which is kept',
    without: 'a temporary folder, removed at the end',
  }),
  keep: flag.yes('keep the temporary folder'),
};

export type DemoInput = flag.CommandInput<typeof DEMO_FLAGS>;
