/** Trainers, models, data partitions and server steps of buffered asynchronous federated learning. */

export { checkDataset } from './data/check-dataset.ts';
export {
  type Labels,
  type Partition,
  partitionByShards,
  partitionByWriter,
  partitionEvenly,
} from './data/partition.ts';
export { type DirichletPartition, type DirichletRequest, partitionByDirichlet } from './data/partition-dirichlet.ts';
export {
  describePartition,
  type PartitionStatistics,
  partitionStatistics,
  plotPartition,
} from './data/partition-statistics.ts';
export { allSamples, type Dataset, type Samples } from './data/samples.ts';
export { decodeDataset, encodeDataset } from './formats/dataset-file.ts';
export { decodeSafetensors, encodeSafetensors, ModelFileError } from './formats/safetensors.ts';
export { initialParameters } from './model/initial.ts';
export {
  conv2d,
  dense,
  dropout,
  flatten,
  groupNorm,
  type Layer,
  maxPool,
  relu,
  sigmoid,
  softmax,
} from './model/layers.ts';
export { manifestText } from './model/manifest.ts';
export { defineModel, type Model, type ModelLayer, type Shape, type Tensor, wordsOf } from './model/model.ts';
export { type ModelJson, modelJson, readModelJson } from './model/model-json.ts';
export { fedmlCifarCnn, femnistCnn, flsimCnn, logisticRegression } from './model/models.ts';
export { readNetworkJson } from './model/tensors-json.ts';
export { type Name, RandomStream, randomStream } from './numbers/random-stream.ts';
export { combineMeans, type WeighedMean } from './server/combine-means.ts';
export { agedWeight } from './server/fedbuff-schedule.ts';
export { type ClientStatistics, RunMetrics, type TripRecord, type VersionRecord } from './server/metrics.ts';
export {
  type FedBuffCheckpoint,
  type PlainFedBuff,
  type PlainFedBuffResult,
  runPlainFedBuff,
} from './server/plain-fedbuff.ts';
export {
  type AdamOptions,
  createServerStep,
  type Damping,
  DEFAULT_DAMPING,
  dampingFactor,
  fedAdamStep,
  fedAvgStep,
  fedBuffStep,
  type MomentumOptions,
  type ServerStep,
  type ServerStepOptions,
} from './server/server-step.ts';
export { type Divisor, WeightedMean } from './server/weighted-mean.ts';
export type { Backend, BackendOptions, Descent } from './training/backend.ts';
export { createKernelBackend } from './training/kernel-backend.ts';
export { DEFAULT_LOSS, isLossName, LOSSES, type LossName } from './training/losses.ts';
export type { OwnModel, Share } from './training/own-model.ts';
export { createReferenceBackend } from './training/reference-backend.ts';
export { type Evaluation, type Score, scoreOf, scoreText } from './training/scores.ts';
export { createTrainer, type Trainer, type TrainRequest, type TrainResult } from './training/trainer.ts';
export type { TrainingKernel } from './training/training-kernel.ts';
