/** Trainers, models, data partitions and server steps of buffered asynchronous federated learning. */
export { decodeDataset, encodeDataset } from './dataset-file.ts';
export type { Descent, Engine } from './engine.ts';
export { initialParameters } from './initial.ts';
export { createKernelEngine } from './kernel-engine.ts';
export type { Layer } from './layers.ts';
export { conv2d, dense, dropout, flatten, groupNorm, maxPool, relu, sigmoid, softmax } from './layers.ts';
export { manifestText } from './manifest.ts';
export type { ClientStatistics, TripRecord, VersionRecord } from './metrics.ts';
export { RunMetrics } from './metrics.ts';
export type { Model, ModelLayer, Shape, Tensor } from './model.ts';
export { defineModel, wordsOf } from './model.ts';
export type { ModelJson } from './model-json.ts';
export { modelJson, readModelJson } from './model-json.ts';
export { fedmlCifarCnn, femnistCnn, flsimCnn, logisticRegression } from './models.ts';
export { encodeNpz } from './npz.ts';
export type { OwnModel, Share } from './own-model.ts';
export type { Labels, Partition } from './partition.ts';
export { partitionByShards, partitionByWriter, partitionEvenly } from './partition.ts';
export type { DirichletPartition, DirichletRequest } from './partition-dirichlet.ts';
export { partitionByDirichlet } from './partition-dirichlet.ts';
export type { PartitionStatistics } from './partition-statistics.ts';
export { describePartition, partitionStatistics, plotPartition } from './partition-statistics.ts';
export type { FedBuffCheckpoint, PlainFedBuff, PlainFedBuffResult } from './plain-fedbuff.ts';
export { runPlainFedBuff } from './plain-fedbuff.ts';
export type { Name } from './random-stream.ts';
export { RandomStream, randomStream } from './random-stream.ts';
export { createReferenceEngine } from './reference-engine.ts';
export { decodeSafetensors, encodeSafetensors, ModelFileError } from './safetensors.ts';
export type { Dataset, Samples } from './samples.ts';
export { allSamples } from './samples.ts';
export type { AdamOptions, Damping, MomentumOptions, ServerStep, ServerStepOptions } from './server-step.ts';
export {
  createServerStep,
  DEFAULT_DAMPING,
  dampingFactor,
  fedAdamStep,
  fedAvgStep,
  fedBuffStep,
} from './server-step.ts';
export type { Staleness } from './staleness.ts';
export { FEDBUFF_STALENESS, stalenessWeight } from './staleness.ts';
export type { Evaluation, Trainer, TrainRequest, TrainResult } from './trainer.ts';
export { createTrainer } from './trainer.ts';
export type { TrainingKernel } from './training-kernel.ts';
export type { Divisor } from './weighted-mean.ts';
export { WeightedMean } from './weighted-mean.ts';
