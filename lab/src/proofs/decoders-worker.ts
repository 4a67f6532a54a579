/** One worker of `npm run lab -- prove decoders`: some hostile inputs at the decoder of one message, by their seed. */
import { serveWorker } from '@basa/runtime/node';
import { sampleMessages } from '@basa/testkit/core/sample-messages.ts';
import { type FuzzResult, fuzzDecoder } from '@basa/testkit/fuzz/decoders.ts';

export interface DecoderTask {
  readonly message: string;
  readonly runs: number;
  readonly seed: number;
}

const samples = new Map(sampleMessages().map((sample) => [sample.name, sample]));

serveWorker<DecoderTask, FuzzResult>(({ message, runs, seed }) => {
  const sample = samples.get(message);
  if (sample === undefined) throw new Error(`there is no message "${message}"`);
  return fuzzDecoder(sample, runs, seed);
});
