/** Trainers, models, data partitions and server steps of buffered asynchronous federated learning. */

export { checkDataset } from './data/check-dataset.ts';
export type { Labels, Partition } from './data/partition.ts';
export { partitionByShards, partitionByWriter, partitionEvenly } from './data/partition.ts';
export type { DirichletPartition, DirichletRequest } from './data/partition-dirichlet.ts';
export { partitionByDirichlet } from './data/partition-dirichlet.ts';
export type { PartitionStatistics } from './data/partition-statistics.ts';
export { describePartition, partitionStatistics, plotPartition } from './data/partition-statistics.ts';
export type { Dataset, Samples } from './data/samples.ts';
export { allSamples } from './data/samples.ts';
export { decodeDataset, encodeDataset } from './formats/dataset-file.ts';
export { encodeNpz } from './formats/npz.ts';
export { decodeSafetensors, encodeSafetensors, ModelFileError } from './formats/safetensors.ts';
export { initialParameters } from './model/initial.ts';
export type { Layer } from './model/layers.ts';
export { conv2d, dense, dropout, flatten, groupNorm, maxPool, relu, sigmoid, softmax } from './model/layers.ts';
export { manifestText } from './model/manifest.ts';
export type { Model, ModelLayer, Shape, Tensor } from './model/model.ts';
export { defineModel, wordsOf } from './model/model.ts';
export type { ModelJson } from './model/model-json.ts';
export { modelJson, readModelJson } from './model/model-json.ts';
export { fedmlCifarCnn, femnistCnn, flsimCnn, logisticRegression } from './model/models.ts';
export { readNetworkJson } from './model/tensors-json.ts';
export type { Name } from './numbers/random-stream.ts';
export { RandomStream, randomStream } from './numbers/random-stream.ts';
export type { WeighedMean } from './server/combine-means.ts';
export { combineMeans } from './server/combine-means.ts';
export { agedWeight } from './server/fedbuff-schedule.ts';
export type { ClientStatistics, TripRecord, VersionRecord } from './server/metrics.ts';
export { RunMetrics } from './server/metrics.ts';
export type { FedBuffCheckpoint, PlainFedBuff, PlainFedBuffResult } from './server/plain-fedbuff.ts';
export { runPlainFedBuff } from './server/plain-fedbuff.ts';
export type { AdamOptions, Damping, MomentumOptions, ServerStep, ServerStepOptions } from './server/server-step.ts';
export {
  createServerStep,
  DEFAULT_DAMPING,
  dampingFactor,
  fedAdamStep,
  fedAvgStep,
  fedBuffStep,
} from './server/server-step.ts';
export type { Divisor } from './server/weighted-mean.ts';
export { WeightedMean } from './server/weighted-mean.ts';
export type { Backend, BackendOptions, Descent } from './training/backend.ts';
export { createKernelBackend } from './training/kernel-backend.ts';
export type { LossName } from './training/losses.ts';
export { DEFAULT_LOSS, isLossName, LOSSES } from './training/losses.ts';
export type { OwnModel, Share } from './training/own-model.ts';
export { createReferenceBackend } from './training/reference-backend.ts';
export type { Evaluation, Score } from './training/scores.ts';
export { scoreOf, scoreText } from './training/scores.ts';
export type { Trainer, TrainRequest, TrainResult } from './training/trainer.ts';
export { createTrainer } from './training/trainer.ts';
export type { TrainingKernel } from './training/training-kernel.ts';
