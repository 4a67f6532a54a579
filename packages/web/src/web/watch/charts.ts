/** The server's counters as bars: steps, refusals, ages, versions in use. */
import { LIVE_STEPS, type LiveState } from '@basa/protocol/http';
import { drawBars } from '../shared/bars.ts';
import { element } from '../shared/dom.ts';
import { bytes, count, milliseconds } from '../shared/format.ts';
import { QUEUED } from './batch-card.ts';

const STEP_TEXT: Readonly<Record<string, string>> = { model: 'fetch the model', upload: 'upload' };

export function drawCharts({ steps, refusals, fetches, versions }: LiveState): void {
  const used = LIVE_STEPS.filter((step) => steps[step].answers > 0);
  drawBars(
    element('step-ms'),
    used.map((step) => {
      const { answers, ms } = steps[step];
      return {
        label: STEP_TEXT[step] ?? step,
        value: ms / answers,
        text: `${milliseconds(ms / answers)} × ${count(answers)}`,
      };
    }),
    'no requests since then',
  );
  drawBars(
    element('step-bytes'),
    used.map((step) => {
      const { answers, received, sent } = steps[step];
      const text = `${bytes(received / answers)} in, ${bytes(sent / answers)} out`;
      return { label: STEP_TEXT[step] ?? step, value: (received + sent) / answers, text };
    }),
    'no requests since then',
  );
  drawBars(
    element('refusals'),
    Object.entries(refusals)
      .filter(([reason]) => reason !== QUEUED)
      .map(([reason, times]) => ({ label: reason, value: times, text: count(times) })),
    'nothing since then',
  );
  drawBars(
    element('ages'),
    versions
      .flatMap(({ version, meanAge }) => (meanAge === undefined ? [] : [{ version, meanAge }]))
      .slice(-8)
      .map(({ version, meanAge }) => ({ label: `version ${version}`, value: meanAge, text: meanAge.toFixed(2) })),
    'no sum is open yet',
  );
  drawBars(
    element('fetches'),
    fetches.slice(-8).map(([version, times]) => ({ label: `version ${version}`, value: times, text: count(times) })),
    'none since then',
  );
}
