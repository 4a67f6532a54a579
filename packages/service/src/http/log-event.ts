/** Writes events of the core to the log. They hold nothing secret. */
import { toHex } from '@basa/masking';
import type { BasaEvent } from '@basa/protocol';
import type { ServiceApp } from './service-app.ts';

export function logEvent({ log }: Pick<ServiceApp, 'log'>, event: BasaEvent): void {
  const named = Object.entries(event).map(([key, value]) => [key, value instanceof Uint8Array ? toHex(value) : value]);
  log[levelOf(event)]({ event: Object.fromEntries(named) }, event.kind);
}

function levelOf({ kind }: BasaEvent): 'warn' | 'info' {
  return kind === 'authority-fault' ? 'warn' : 'info';
}
