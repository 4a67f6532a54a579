/** The network within one process: reports each message to the observer, and passes its bytes on. */
import type { Observer } from './aggregation.ts';

export interface Crossing {
  up(phase: string, user: number, bytes: Uint8Array): Uint8Array;
  down(phase: string, user: number, bytes: Uint8Array): Uint8Array;
}

export function crossing(observer: Observer): Crossing {
  return {
    up(phase, user, bytes) {
      observer.sent({ phase, from: 'user', to: 'server', user, bytes: bytes.length });
      return bytes;
    },
    down(phase, user, bytes) {
      observer.sent({ phase, from: 'server', to: 'user', user, bytes: bytes.length });
      return bytes;
    },
  };
}
