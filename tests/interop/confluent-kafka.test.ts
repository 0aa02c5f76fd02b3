// confluent-kafka, the Python client on a current librdkafka.

import { pythonRoundTripTests } from './python-round-trip.ts';

await pythonRoundTripTests({
  name: 'confluent-kafka',
  packages: ['confluent-kafka==2.16.1'],
  program: 'confluent_kafka_client.py',
});
