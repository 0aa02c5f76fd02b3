// THE table of Kafka's error codes: number, whether trying again may help, and what to say when nothing more precise is known.

const table = {
  UNKNOWN_SERVER_ERROR: [-1, false, 'The server met an error that it did not expect.'],
  NONE: [0, false, 'No error.'],
  OFFSET_OUT_OF_RANGE: [1, false, 'The log has no such offset: it lies before the start or beyond the end.'],
  CORRUPT_MESSAGE: [2, true, 'The bytes of a record batch are damaged: the checksum, a size or the format is wrong.'],
  UNKNOWN_TOPIC_OR_PARTITION: [3, true, 'This broker has no such topic or partition.'],
  INVALID_FETCH_SIZE: [4, false, 'The fetch size is not valid.'],
  LEADER_NOT_AVAILABLE: [5, true, 'The partition has no leader at the moment; an election is under way.'],
  NOT_LEADER_OR_FOLLOWER: [6, true, 'This broker is neither leader nor follower of the partition, as the request assumes.'],
  REQUEST_TIMED_OUT: [7, true, 'The request took longer than its time-out allows.'],
  BROKER_NOT_AVAILABLE: [8, false, 'The broker is not available.'],
  REPLICA_NOT_AVAILABLE: [9, true, 'The replica is not available.'],
  MESSAGE_TOO_LARGE: [10, false, 'A record batch is larger than the server accepts.'],
  STALE_CONTROLLER_EPOCH: [11, false, 'The controller has changed: the epoch of the request is an old one.'],
  OFFSET_METADATA_TOO_LARGE: [12, false, 'The metadata that goes with the committed offset is larger than allowed.'],
  NETWORK_EXCEPTION: [13, true, 'The connection was lost before the answer came.'],
  COORDINATOR_LOAD_IN_PROGRESS: [14, true, 'The coordinator is still loading its state.'],
  COORDINATOR_NOT_AVAILABLE: [15, true, 'No coordinator is available.'],
  NOT_COORDINATOR: [16, true, 'This broker is not the coordinator for the given key.'],
  INVALID_TOPIC_EXCEPTION: [17, false, 'The topic is not a valid one for this operation.'],
  RECORD_LIST_TOO_LARGE: [18, false, 'The record batches of the request are larger than a segment may be.'],
  NOT_ENOUGH_REPLICAS: [19, true, 'Fewer replicas are in sync than min.insync.replicas demands; nothing was written.'],
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: [
    20,
    true,
    'The records were written, but fewer replicas are in sync than min.insync.replicas demands.',
  ],
  INVALID_REQUIRED_ACKS: [21, false, 'Acks must be -1, 0 or 1.'],
  ILLEGAL_GENERATION: [22, false, 'The generation of the group is another one than the request names.'],
  INCONSISTENT_GROUP_PROTOCOL: [23, false, "The member's protocol type or protocols do not fit those of the group."],
  INVALID_GROUP_ID: [24, false, 'The group id is not valid.'],
  UNKNOWN_MEMBER_ID: [25, false, 'The coordinator knows no such member.'],
  INVALID_SESSION_TIMEOUT: [26, false, 'The session time-out lies outside the bounds that the broker sets.'],
  REBALANCE_IN_PROGRESS: [27, false, 'The group is rebalancing; the member must join again.'],
  INVALID_COMMIT_OFFSET_SIZE: [28, false, 'The committed offsets do not fit into one record batch.'],
  TOPIC_AUTHORIZATION_FAILED: [29, false, 'The topic may not be accessed with these credentials.'],
  GROUP_AUTHORIZATION_FAILED: [30, false, 'The group may not be accessed with these credentials.'],
  CLUSTER_AUTHORIZATION_FAILED: [31, false, 'The cluster does not permit this operation with these credentials.'],
  INVALID_TIMESTAMP: [32, false, 'The timestamp of a record lies outside the range that is accepted.'],
  UNSUPPORTED_SASL_MECHANISM: [33, false, 'The broker does not offer this SASL mechanism.'],
  ILLEGAL_SASL_STATE: [34, false, 'The request does not fit the present state of the SASL exchange.'],
  UNSUPPORTED_VERSION: [35, false, 'The broker does not support this version of the API.'],
  TOPIC_ALREADY_EXISTS: [36, false, 'A topic of this name exists already.'],
  INVALID_PARTITIONS: [37, false, 'The number of partitions is not valid.'],
  INVALID_REPLICATION_FACTOR: [38, false, 'The replication factor is below 1 or larger than the number of brokers.'],
  INVALID_REPLICA_ASSIGNMENT: [39, false, 'The assignment of replicas is not valid.'],
  INVALID_CONFIG: [40, false, 'A configuration is not valid.'],
  NOT_CONTROLLER: [41, true, 'This broker is not the controller.'],
  INVALID_REQUEST: [42, false, 'The request contradicts itself or lacks something.'],
  UNSUPPORTED_FOR_MESSAGE_FORMAT: [43, false, 'The message format on the broker cannot do what the request asks for.'],
  POLICY_VIOLATION: [44, false, 'A policy of the cluster forbids this.'],
  OUT_OF_ORDER_SEQUENCE_NUMBER: [45, false, 'The sequence number of the producer does not follow the last one.'],
  DUPLICATE_SEQUENCE_NUMBER: [46, false, 'The broker has this sequence number of the producer already.'],
  INVALID_PRODUCER_EPOCH: [47, false, "The producer's epoch is older than the one that the broker knows."],
  INVALID_TXN_STATE: [48, false, 'The transaction is not in a state that permits this.'],
  INVALID_PRODUCER_ID_MAPPING: [49, false, 'The producer id is not the one that belongs to the transactional id.'],
  INVALID_TRANSACTION_TIMEOUT: [50, false, 'The transaction time-out is larger than transaction.max.timeout.ms allows.'],
  CONCURRENT_TRANSACTIONS: [51, true, 'Another change of the same transaction is still under way.'],
  TRANSACTION_COORDINATOR_FENCED: [52, false, 'The transaction coordinator that sent this is no longer the coordinator.'],
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: [53, false, 'The transactional id may not be used with these credentials.'],
  SECURITY_DISABLED: [54, false, 'Security features are switched off.'],
  OPERATION_NOT_ATTEMPTED: [55, false, 'The broker did not try this, because another part of the request failed.'],
  KAFKA_STORAGE_ERROR: [56, true, 'The disk failed, and with it the log directory that holds the partition.'],
  LOG_DIR_NOT_FOUND: [57, false, 'The broker has no such log directory.'],
  SASL_AUTHENTICATION_FAILED: [58, false, 'SASL authentication failed.'],
  UNKNOWN_PRODUCER_ID: [59, false, 'The broker no longer knows this producer id: its records may have been deleted.'],
  REASSIGNMENT_IN_PROGRESS: [60, false, 'The partition is being reassigned.'],
  DELEGATION_TOKEN_AUTH_DISABLED: [61, false, 'Delegation tokens are switched off.'],
  DELEGATION_TOKEN_NOT_FOUND: [62, false, 'There is no such delegation token.'],
  DELEGATION_TOKEN_OWNER_MISMATCH: [63, false, 'The delegation token belongs to someone else.'],
  DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: [64, false, 'Delegation tokens cannot be requested over a connection like this one.'],
  DELEGATION_TOKEN_AUTHORIZATION_FAILED: [65, false, 'The delegation token may not be accessed with these credentials.'],
  DELEGATION_TOKEN_EXPIRED: [66, false, 'The delegation token has expired.'],
  INVALID_PRINCIPAL_TYPE: [67, false, 'Principals of this type are not supported here.'],
  NON_EMPTY_GROUP: [68, false, 'The group still has members.'],
  GROUP_ID_NOT_FOUND: [69, false, 'There is no such group.'],
  FETCH_SESSION_ID_NOT_FOUND: [70, true, 'The broker has no such fetch session.'],
  INVALID_FETCH_SESSION_EPOCH: [71, true, 'The epoch of the fetch session does not follow the last one.'],
  LISTENER_NOT_FOUND: [72, true, 'The leader has no listener of the name that the request came in on.'],
  TOPIC_DELETION_DISABLED: [73, false, 'Deleting topics is switched off.'],
  FENCED_LEADER_EPOCH: [74, true, "The leader epoch of the request is older than the broker's."],
  UNKNOWN_LEADER_EPOCH: [75, true, "The leader epoch of the request is newer than the broker's."],
  UNSUPPORTED_COMPRESSION_TYPE: [76, false, 'The broker cannot give records of this compression type to such an old client.'],
  STALE_BROKER_EPOCH: [77, false, 'The broker has registered again since: its epoch in the request is an old one.'],
  OFFSET_NOT_AVAILABLE: [78, true, 'The new leader cannot tell the end of the log yet: its high watermark has not caught up.'],
  MEMBER_ID_REQUIRED: [79, false, 'The member must join again with the member id that it has been given.'],
  PREFERRED_LEADER_NOT_AVAILABLE: [80, true, 'The preferred leader is not available.'],
  GROUP_MAX_SIZE_REACHED: [81, false, 'The group has as many members as it may have.'],
  FENCED_INSTANCE_ID: [82, false, 'Another member has joined with the same group instance id and replaced this one.'],
  ELIGIBLE_LEADERS_NOT_AVAILABLE: [83, true, 'None of the replicas that may lead is available.'],
  ELECTION_NOT_NEEDED: [84, true, 'No election is needed: the right leader leads.'],
  NO_REASSIGNMENT_IN_PROGRESS: [85, false, 'The partition is not being reassigned.'],
  GROUP_SUBSCRIBED_TO_TOPIC: [86, false, 'A member of the group is subscribed to the topic.'],
  INVALID_RECORD: [87, false, 'A record breaks a rule of the broker or the topic.'],
  UNSTABLE_OFFSET_COMMIT: [88, true, 'An open transaction may still change the committed offsets.'],
  THROTTLING_QUOTA_EXCEEDED: [89, true, 'The quota is used up for now.'],
  PRODUCER_FENCED: [90, false, 'A newer producer with the same transactional id has replaced this one.'],
  RESOURCE_NOT_FOUND: [91, false, 'The request names something that does not exist.'],
  DUPLICATE_RESOURCE: [92, false, 'The request names something that exists already, or names it twice.'],
  UNACCEPTABLE_CREDENTIAL: [93, false, 'The credential does not meet the requirements.'],
  INCONSISTENT_VOTER_SET: [94, false, 'The voters of the sender and of the receiver differ.'],
  INVALID_UPDATE_VERSION: [95, false, 'The feature cannot be changed to this version.'],
  FEATURE_UPDATE_FAILED: [96, false, 'The features could not be changed.'],
  PRINCIPAL_DESERIALIZATION_FAILURE: [97, false, 'The principal inside the forwarded request cannot be read.'],
  SNAPSHOT_NOT_FOUND: [98, false, 'There is no such snapshot.'],
  POSITION_OUT_OF_RANGE: [99, false, 'The position lies beyond the end of the snapshot.'],
  UNKNOWN_TOPIC_ID: [100, true, 'This broker knows no topic with this id.'],
  DUPLICATE_BROKER_REGISTRATION: [101, false, 'A broker with the same id is registered and alive.'],
  BROKER_ID_NOT_REGISTERED: [102, false, 'No broker with this id is registered.'],
  INCONSISTENT_TOPIC_ID: [103, true, 'The topic id in the log differs from the one in the request.'],
  INCONSISTENT_CLUSTER_ID: [104, false, 'The cluster id in the request is that of another cluster.'],
  TRANSACTIONAL_ID_NOT_FOUND: [105, false, 'There is no such transactional id.'],
  FETCH_SESSION_TOPIC_ID_ERROR: [
    106,
    true,
    'The request uses topic ids where the fetch session uses names, or the other way round.',
  ],
  INELIGIBLE_REPLICA: [107, false, 'The replica may not join the in-sync replicas.'],
  NEW_LEADER_ELECTED: [108, false, 'The change of the in-sync replicas was made, and another leader was elected by it.'],
  OFFSET_MOVED_TO_TIERED_STORAGE: [109, false, 'The offset has been moved to tiered storage.'],
  FENCED_MEMBER_EPOCH: [110, false, "The member's epoch is no longer valid; it must give up its partitions and join again."],
  UNRELEASED_INSTANCE_ID: [111, false, 'A member with the same group instance id is still active.'],
  UNSUPPORTED_ASSIGNOR: [112, false, 'The coordinator does not offer this assignor.'],
  STALE_MEMBER_EPOCH: [113, false, "The member's epoch is not the latest; it must take note of the new one and try again."],
  MISMATCHED_ENDPOINT_TYPE: [
    114,
    false,
    'The request was sent to the wrong kind of endpoint: broker instead of controller, or the other way round.',
  ],
  UNSUPPORTED_ENDPOINT_TYPE: [115, false, 'This kind of endpoint is not supported.'],
  UNKNOWN_CONTROLLER_ID: [116, false, 'There is no controller with this id.'],
  UNKNOWN_SUBSCRIPTION_ID: [117, false, 'The subscription to client metrics has changed since the client asked for it.'],
  TELEMETRY_TOO_LARGE: [118, false, 'The client metrics are larger than the broker accepts.'],
  INVALID_REGISTRATION: [119, false, 'The registration of the controller is not valid.'],
  TRANSACTION_ABORTABLE: [120, false, 'The transaction met an error and must be aborted.'],
  INVALID_RECORD_STATE: [121, false, 'The record is not in a state that permits this acknowledgement.'],
  SHARE_SESSION_NOT_FOUND: [122, true, 'The broker has no such share session.'],
  INVALID_SHARE_SESSION_EPOCH: [123, true, 'The epoch of the share session does not follow the last one.'],
  FENCED_STATE_EPOCH: [124, false, "The state epoch of the share coordinator's client is an old one."],
  INVALID_VOTER_KEY: [125, false, 'The directory id or the id of the voter does not fit what is known.'],
  DUPLICATE_VOTER: [126, false, 'The voter is one already.'],
  VOTER_NOT_FOUND: [127, false, 'There is no such voter.'],
  INVALID_REGULAR_EXPRESSION: [128, false, 'The regular expression is not valid.'],
  REBOOTSTRAP_REQUIRED: [129, false, 'The client must start again from its bootstrap servers.'],
  STREAMS_INVALID_TOPOLOGY: [130, false, 'The topology of the streams group is not valid.'],
  STREAMS_INVALID_TOPOLOGY_EPOCH: [131, false, 'The epoch of the topology is not valid.'],
  STREAMS_TOPOLOGY_FENCED: [132, false, 'The epoch of the topology is an old one.'],
  SHARE_SESSION_LIMIT_REACHED: [133, true, 'The broker has as many share sessions as it may have.'],
  GROUP_DELETION_FAILED: [134, false, 'The group could not be deleted.'],
  STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED: [135, false, 'The description of the topology could not be stored.'],
  CONTROLLER_ID_NOT_REGISTERED: [136, false, 'No controller with this id is registered.'],
} as const;

export type ErrorName = keyof typeof table;

export interface ErrorCode {
  readonly code: number;
  readonly name: ErrorName;
  readonly isRetriable: boolean;
  readonly message: string;
}

const rows: readonly ErrorCode[] = (Object.keys(table) as ErrorName[]).map((name) => {
  const [code, isRetriable, message] = table[name];
  return { code, name, isRetriable, message };
});

const rowByCode = new Map(rows.map((row) => [row.code, row]));

/** The number of each error by its name: `errorCodes.NOT_LEADER_OR_FOLLOWER`. */
export const errorCodes = Object.fromEntries(rows.map(({ name, code }) => [name, code])) as {
  readonly [N in ErrorName]: (typeof table)[N][0];
};

/** What is known of a code. A number that is in no table, as a newer broker may send, is an unknown server error. */
export function errorByCode(code: number): ErrorCode {
  const row = rowByCode.get(code) ?? rowByCode.get(errorCodes.UNKNOWN_SERVER_ERROR);
  if (row === undefined) throw new Error('The table of error codes lacks UNKNOWN_SERVER_ERROR');
  return row;
}

/** An answer that the protocol has a code for. */
export class ProtocolError extends Error {
  override readonly name: string = 'ProtocolError';
  readonly code: number;

  constructor(code: number, message?: string, options?: ErrorOptions) {
    super(message ?? errorByCode(code).message, options);
    this.code = code;
  }

  /** The name of the code, such as NOT_LEADER_OR_FOLLOWER. */
  get codeName(): ErrorName {
    return errorByCode(this.code).name;
  }

  get isRetriable(): boolean {
    return errorByCode(this.code).isRetriable;
  }
}
