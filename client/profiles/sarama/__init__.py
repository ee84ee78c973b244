"""Sarama, the Go client: its SyncProducer with the timing of its source. Files and functions carry upstream's names."""

from client.profiles.contract import Profile
from client.profiles.sarama.broker import prepare
from client.profiles.sarama.config import SETTINGS
from client.profiles.sarama.releases import RELEASES
from client.profiles.sarama.sync_producer import new_sync_producer

PROFILE = Profile(
    name="sarama",
    about="Sarama's SyncProducer (Go)",
    releases=tuple(RELEASES),
    settings=SETTINGS,
    connect=new_sync_producer,
    prepare=prepare,
)
