/** Areas of a kernel's memory: taken one after the other, then reserved in one go, because growing detaches views. */
import type { TrainingKernel } from './training-kernel.ts';

/** A cache line; also the number of bytes a kernel may read past the end of an area. */
const ALIGNMENT_BYTES = 64;

export class Arena {
  readonly #kernel: TrainingKernel;
  #next: number;
  #memory: Float32Array | undefined;

  constructor(kernel: TrainingKernel) {
    this.#kernel = kernel;
    this.#next = kernel.start;
  }

  /** Returns the address of `words` words that no other caller gets. */
  take(words: number): number {
    const address = this.#next;
    this.#next += Math.ceil((4 * words) / ALIGNMENT_BYTES + 1) * ALIGNMENT_BYTES;
    return address;
  }

  /** Makes the memory; every area has been taken by now. */
  reserve(): void {
    this.#memory = new Float32Array(this.#kernel.reserve(this.#next - this.#kernel.start));
  }

  get memory(): Float32Array {
    if (this.#memory === undefined) throw new Error('the arena is not reserved yet');
    return this.#memory;
  }

  floats(address: number, words: number): Float32Array {
    return this.memory.subarray(address / 4, address / 4 + words);
  }

  clear(address: number, words: number): void {
    this.memory.fill(0, address / 4, address / 4 + words);
  }

  copy(to: number, from: number, words: number): void {
    this.memory.copyWithin(to / 4, from / 4, from / 4 + words);
  }
}
