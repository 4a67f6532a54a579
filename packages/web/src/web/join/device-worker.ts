/** The worker of a tab: masking, encryption and training happen here, and nowhere else in the page. */
import { ProblemError } from '@basa/client/web';
import { live } from './device.ts';
import type { FromDevice, ToDevice } from './device-messages.ts';
import { Gate } from './gate.ts';

interface WorkerScope {
  postMessage(news: FromDevice): void;
  addEventListener(name: 'message', listener: (event: MessageEvent<ToDevice>) => void): void;
}

const scope = self as unknown as WorkerScope;
const gate = new Gate();

scope.addEventListener('message', ({ data }) => {
  if (data.kind === 'pause') gate.close();
  else if (data.kind === 'go') gate.open();
  else if (data.kind === 'leave') gate.leave();
  else {
    live(data, gate, (news) => scope.postMessage(news)).catch((error: unknown) => {
      scope.postMessage({
        kind: 'failed',
        message: error instanceof Error ? error.message : String(error),
        ...(error instanceof ProblemError && { code: error.code }),
      });
    });
  }
});
