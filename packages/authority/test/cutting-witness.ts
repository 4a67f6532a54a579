import type { Head } from '@basa/protocol';
import type { Witness } from '../src/index.ts';

/** The witness is written between the transaction and the answer: there the power is cut. */
export class CuttingWitness implements Witness {
  head: Head | undefined;
  onWrite: (() => void) | undefined;
  read(): Head | undefined {
    return this.head;
  }
  write(head: Head): void {
    const cut = this.onWrite;
    this.onWrite = undefined;
    cut?.();
    this.head = head;
  }
}
