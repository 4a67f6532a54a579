/** Data for training: fetched once through the registry, checked, kept; and loaders for a user's own. */
export type { CacheOptions } from './cache.ts';
export { loadCifar10 } from './cifar10.ts';
export type { CsvOptions } from './csv.ts';
export { loadCsv, readCsv } from './csv.ts';
export { DataError, FetchError } from './data-error.ts';
export type { FontWriters } from './font-writers.ts';
export { loadFontWriters } from './font-writers.ts';
export type { IdxFile } from './idx.ts';
export { readIdx } from './idx.ts';
export type { ImageDataset } from './images.ts';
export { loadImages } from './images.ts';
export type { WriterDataset } from './leaf.ts';
export { loadLeafFemnist } from './leaf.ts';
export type { TrainAndTest } from './mnist.ts';
export { loadMnist } from './mnist.ts';
export type { Progress, StartProgress } from './progress.ts';
export { noProgress, showProgress } from './progress.ts';
